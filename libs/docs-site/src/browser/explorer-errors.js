/**
 * A plugin of Swagger UI. It folds a described error to one line with its problem codes, and a button unfolds it. An
 * operation has about ten errors, which would hide the next operation.
 */
export function foldErrors() {
  const namesOf = (description) => {
    const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code);
    return codes.length > 0 ? codes.join(', ') : description.replace(/`/g, '').replace(/\.\s[^]*/, '.');
  };
  const fold =
    (Original, { React }) =>
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
