/** The used part of a browser's document. The project has no browser types. */
interface PageElement {
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly nextElementSibling: PageElement | null;
  readonly textContent: string;
  hidden: boolean;
  className: string;
  open: boolean;
  type: string;
  onclick: () => void;
  append(...children: readonly (PageElement | string)[]): void;
  prepend(child: PageElement): void;
  querySelector(selector: string): PageElement | null;
  focus(): void;
  replaceChildren(...children: readonly (PageElement | string)[]): void;
  setAttribute(name: string, value: string): void;
}
declare const document: PageElement & {
  addEventListener(type: 'DOMContentLoaded', listener: () => void): void;
  createElement(tag: string): PageElement;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare const matchMedia: (query: string) => { readonly matches: boolean };
declare const navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
declare const localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void };

/**
 * Closes the menu on phones, adds copy buttons, and shows one of the languages of an example. The page can be read
 * without it. Sent to the browser as source text, so it must not use anything outside itself.
 */
export function improveGuide(): void {
  const LANGUAGE = 'guides.language';
  const menu = document.querySelector('.menu details');
  if (menu && matchMedia('(max-width: 56rem)').matches) menu.open = false;

  const button = (label: string, press: () => void): PageElement => {
    const made = document.createElement('button');
    made.type = 'button';
    made.append(label);
    made.onclick = press;
    return made;
  };

  const addCopyButton = (example: PageElement): void => {
    // Browsers offer no clipboard to pages that came by plain HTTP from another machine.
    const { clipboard } = navigator;
    if (!clipboard) return;
    const copy = button('Copy', () => {
      const say = (text: string): void => copy.replaceChildren(text);
      const text = example.querySelector('code')?.textContent ?? '';
      clipboard.writeText(text).then(
        () => say('Copied'),
        () => say('Not allowed'),
      );
      setTimeout(() => say('Copy'), 2000);
    });
    copy.className = 'copy';
    copy.setAttribute('aria-live', 'polite');
    example.querySelector('figcaption')?.append(copy);
  };

  /** Examples that follow one another say the same in several languages. */
  const groupsOf = (examples: Iterable<PageElement>): PageElement[][] => {
    const groups: PageElement[][] = [];
    for (const example of examples) {
      const group = groups.at(-1);
      if (group?.at(-1)?.nextElementSibling === example) group.push(example);
      else groups.push([example]);
    }
    return groups.filter((group) => group.length > 1);
  };

  const addLanguages = (groups: readonly PageElement[][]): void => {
    const show = (language: string): void => {
      for (const group of groups) {
        const known = group.some(({ dataset }) => dataset['language'] === language);
        if (known) for (const example of group) example.hidden = example.dataset['language'] !== language;
      }
    };
    for (const group of groups) {
      for (const example of group) {
        const languages = document.createElement('span');
        languages.className = 'languages';
        for (const { dataset } of group) {
          const { language = '' } = dataset;
          const choice = button(language, () => {
            localStorage.setItem(LANGUAGE, language);
            show(language);
            group
              .find((other) => !other.hidden)
              ?.querySelector('[aria-pressed="true"]')
              ?.focus();
          });
          choice.setAttribute('aria-pressed', String(dataset === example.dataset));
          languages.append(choice);
        }
        example.querySelector('figcaption')?.replaceChildren(languages);
      }
      group.forEach((example, place) => (example.hidden = place > 0));
    }
    const chosen = localStorage.getItem(LANGUAGE);
    if (chosen) show(chosen);
  };

  document.addEventListener('DOMContentLoaded', () => {
    const examples = [...document.querySelectorAll('.code')];
    addLanguages(groupsOf(examples));
    examples.forEach(addCopyButton);
  });
}
