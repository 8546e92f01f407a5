/**
 * Improves Swagger UI for keyboards and screen readers: names controls, and gives dialogs the focus.
 */
export function makeAccessible() {
  const DIALOG = '.modal-ux';
  const FOCUSABLE = 'input, select, button, a[href]';
  let dialog = null;
  let opener = null;

  const name = (selector, nameOf) => {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`)) {
      const found = nameOf(element);
      if (found) element.setAttribute('aria-label', found);
    }
  };
  const nameControls = () => {
    name('#servers', () => 'Server');
    name('.close-modal', () => 'Close the dialog');
    name('.examples-select-element', () => 'Example');
    name('textarea.body-param__text', () => 'Request body');
    for (const attribute of ['data-param-name', 'data-property-name']) {
      name(`[${attribute}] :is(input, select, textarea)`, (control) =>
        control.closest(`[${attribute}]`)?.getAttribute(attribute),
      );
    }
    // A scrollable element must be focusable to scroll by keyboard, and so needs a name.
    name('pre.microlight', () => 'Code');
    for (const code of document.querySelectorAll('pre.microlight:not([role])')) {
      code.setAttribute('tabindex', '0');
      code.setAttribute('role', 'region');
    }
  };

  const followDialog = () => {
    const shown = document.querySelector(DIALOG);
    if (shown && !dialog) {
      opener = document.activeElement;
      shown.setAttribute('role', 'dialog');
      shown.setAttribute('aria-modal', 'true');
      shown.setAttribute('aria-label', shown.querySelector('h3')?.textContent ?? '');
      shown.setAttribute('tabindex', '-1');
    }
    // Also when the pressed button has disappeared.
    if (shown && !shown.contains(document.activeElement)) (shown.querySelector('input') ?? shown).focus();
    if (dialog && !shown) {
      const fallback = document.querySelector('.auth-wrapper .btn.authorize');
      (opener?.isConnected === true ? opener : fallback)?.focus();
    }
    dialog = shown;
  };

  document.addEventListener('keydown', (pressed) => {
    if (!dialog) return;
    if (pressed.key === 'Enter' && pressed.target.matches('input:not([type="checkbox"])')) {
      dialog.querySelector('.auth-btn-wrapper .authorize')?.click();
    }
    if (pressed.key !== 'Tab') return;
    const inside = [...dialog.querySelectorAll(FOCUSABLE)];
    const [edge, other] = pressed.shiftKey ? [inside[0], inside.at(-1)] : [inside.at(-1), inside[0]];
    if (pressed.target !== edge && inside.includes(pressed.target)) return;
    pressed.preventDefault();
    other?.focus();
  });
  new MutationObserver(() => {
    nameControls();
    followDialog();
  }).observe(document, { childList: true, subtree: true });
}
