/** Improves pages that work without it: buttons that copy, and say so to screen readers. */
export const CONSOLE_SCRIPT = `'use strict';
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.firstChild.data = 'Copied';
  });
}
`;
