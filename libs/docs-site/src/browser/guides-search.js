// Searches the guides while the reader types. Loads the index when the field gets the focus.
const MOST = 8;
const box = document.querySelector('.search');
const [input, status, list] = ['input', 'p', 'ul'].map((tag) => box.querySelector(tag));
let loading;
let first;

const load = async () => {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import('./minisearch.js'),
    fetch(new URL('guides-index.json', import.meta.url)),
  ]);
  if (!response.ok) throw new Error('The index did not load.');
  const { options, index } = await response.json();
  return MiniSearch.loadJS(index, options);
};

const linkTo = ({ id, title, heading }) => {
  const link = document.createElement('a');
  link.href = new URL(`guides/${id}`, import.meta.url);
  link.textContent = heading === title ? title : `${title}: ${heading}`;
  return link;
};
const entryOf = (link) => {
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
};

const search = async () => {
  const words = input.value.trim();
  try {
    const index = await (loading ??= load());
    // Another letter was typed while the index loaded.
    if (words !== input.value.trim()) return;
    const all = index.search(words, {
      prefix: true,
      fuzzy: 0.2,
      combineWith: 'AND',
      boost: { title: 3, heading: 2 },
    });
    const links = all.slice(0, MOST).map(linkTo);
    [first] = links;
    list.replaceChildren(...links.map(entryOf));
    const many = all.length > MOST ? `The first ${MOST} of ${all.length} sections` : `Sections: ${all.length}`;
    status.textContent = words === '' ? '' : all.length === 0 ? 'Nothing found' : many;
  } catch {
    loading = undefined;
    status.textContent = 'The search did not load. Type again to retry.';
  }
};

box.hidden = false;
input.addEventListener('input', () => void search());
input.addEventListener('focus', () => void search());
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter' && first) first.click();
});
