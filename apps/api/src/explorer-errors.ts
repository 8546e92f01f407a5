/** The used part of Swagger UI and its React. */
type Shown = object | null;
type Component = (properties: ResponseProperties) => Shown;
interface ResponseProperties {
  readonly code: string;
  readonly response: { get(member: 'description'): string | undefined };
}
interface React {
  readonly Fragment: Component;
  createElement(type: string | Component, properties: object | null, ...children: unknown[]): Shown;
  useState(initial: boolean): [value: boolean, change: (value: boolean) => void];
}

/**
 * A plugin of Swagger UI. It folds a described error to one line with its problem codes, and a button unfolds it. An
 * operation has about ten errors, which would hide the next operation. Sent as source text, so it must not use
 * anything outside itself.
 */
export function foldErrors(): object {
  const namesOf = (description: string): string => {
    const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code);
    return codes.length > 0 ? codes.join(', ') : description.replace(/`/g, '').replace(/\.\s[^]*/, '.');
  };
  const fold =
    (Original: Component, { React }: { readonly React: React }): Component =>
    (properties) => {
      const { code, response } = properties;
      const [isOpen, setOpen] = React.useState(false);
      if (!/^[45]/.test(code)) return React.createElement(Original, properties);
      const button = React.createElement(
        'button',
        { type: 'button', className: 'unfold', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
        React.createElement('span', null, `${code} `),
        namesOf(response.get('description') ?? ''),
      );
      const cell = React.createElement('td', { colSpan: 3 }, button);
      return React.createElement(
        React.Fragment,
        null,
        React.createElement('tr', { className: 'folded', 'data-code': code }, cell),
        isOpen && React.createElement(Original, properties),
      );
    };
  return { wrapComponents: { response: fold } };
}
