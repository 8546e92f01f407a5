/** The used part of a browser's document. The project has no browser types. */
interface SearchElement {
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly value: string;
  hidden: boolean;
  href: string;
  src: string;
  textContent: string;
  onload: () => void;
  onerror: () => void;
  append(...children: readonly (SearchElement | string)[]): void;
  click(): void;
  querySelector(selector: string): SearchElement;
  replaceChildren(...children: readonly SearchElement[]): void;
  addEventListener(type: string, listener: (event: { readonly key?: string }) => void): void;
}
interface Found {
  readonly id: string;
  readonly title: string;
  readonly heading: string;
}
declare const document: SearchElement & { readonly head: SearchElement; createElement(tag: string): SearchElement };
declare const MiniSearch: {
  loadJSON(index: string, options: object): { search(words: string, options: object): readonly Found[] };
};

/**
 * Searches the guides while the reader types. Loads the index when the field gets the focus. Sent to the browser as
 * source text, so it must not use anything outside itself.
 */
export function searchGuides(options: object): void {
  const MOST = 8;
  document.addEventListener('DOMContentLoaded', () => {
    const box = document.querySelector('.search');
    const [input, status, list] = ['input', 'p', 'ul'].map((tag) => box.querySelector(tag)) as [
      SearchElement,
      SearchElement,
      SearchElement,
    ];
    const { up = '' } = box.dataset;
    type Index = ReturnType<typeof MiniSearch.loadJSON>;
    let loading: Promise<Index> | undefined;
    let first: SearchElement | undefined;

    const load = async (): Promise<Index> => {
      await new Promise<void>((resolve, reject) => {
        const script = document.createElement('script');
        script.onload = resolve;
        script.onerror = () => reject(new Error('The search did not load.'));
        script.src = `${up}minisearch.js`;
        document.head.append(script);
      });
      const response = await fetch(`${up}guides-index.json`);
      if (!response.ok) throw new Error('The index did not load.');
      return MiniSearch.loadJSON(await response.text(), options);
    };

    const linkTo = ({ id, title, heading }: Found): SearchElement => {
      const link = document.createElement('a');
      link.href = `${up}guides/${id}`;
      link.textContent = heading === title ? title : `${title}: ${heading}`;
      return link;
    };
    const entryOf = (link: SearchElement): SearchElement => {
      const entry = document.createElement('li');
      entry.append(link);
      return entry;
    };

    const search = async (): Promise<void> => {
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
  });
}
