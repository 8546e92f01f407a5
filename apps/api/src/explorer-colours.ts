/** The used part of a browser. The project has no browser types. */
interface ColourScheme {
  readonly matches: boolean;
  addEventListener(type: 'change', listener: () => void): void;
}
declare const matchMedia: (query: string) => ColourScheme;
declare const document: {
  readonly documentElement: { readonly classList: { toggle(name: string, isOn: boolean): void } };
};

/**
 * Gives Swagger UI the colours that the reader's system asks for, also when the system changes. Sent to the browser as
 * source text, so it must not use anything outside itself.
 */
export function followColours(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = (): void => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
}
