/** The used part of a browser's document. The project has no browser types. */
interface WideElement {
  readonly clientWidth: number;
  readonly scrollWidth: number;
  readonly parentElement: WideElement;
  readonly classList: { contains(name: string): boolean; toggle(name: string, isOn: boolean): void };
}
declare const document: {
  addEventListener(type: 'DOMContentLoaded', listener: () => void): void;
  querySelectorAll(selector: string): Iterable<WideElement>;
};
declare const ResizeObserver: new (listener: (changed: readonly { readonly target: WideElement }[]) => void) => {
  observe(element: WideElement): void;
};

/**
 * Marks tables and examples that are wider than their window, so that the style can say it. Sent to the browser as
 * source text, so it must not use anything outside itself.
 */
export function markWide(): void {
  document.addEventListener('DOMContentLoaded', () => {
    const observer = new ResizeObserver((changed) => {
      for (const { target } of changed) {
        const box = target.classList.contains('table') ? target : target.parentElement;
        box.classList.toggle('scrolls', target.scrollWidth > target.clientWidth);
      }
    });
    for (const wide of document.querySelectorAll('.table, .code pre')) observer.observe(wide);
  });
}
