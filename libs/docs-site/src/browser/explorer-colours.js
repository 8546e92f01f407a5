/**
 * Gives Swagger UI the colours that the reader's system asks for, also when the system changes.
 */
export function followColours() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
}
