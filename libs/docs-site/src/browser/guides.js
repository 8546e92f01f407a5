/*
 * Closes the menu on phones, adds copy buttons, and shows one of the languages of an example. The page can be read
 * without it. It is no module, because it closes the menu before the page is drawn.
 */
{
  const LANGUAGE = 'guides.language';
  const menu = document.querySelector('.menu details');
  if (menu && matchMedia('(max-width: 56rem)').matches) menu.open = false;

  const button = (label, press) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.append(label);
    made.onclick = press;
    return made;
  };

  const addCopyButton = (example) => {
    // Browsers offer no clipboard to pages that came by plain HTTP from another machine.
    const { clipboard } = navigator;
    if (!clipboard) return;
    const copy = button('Copy', () => {
      const say = (text) => copy.replaceChildren(text);
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
  const groupsOf = (examples) => {
    const groups = [];
    for (const example of examples) {
      const group = groups.at(-1);
      if (group?.at(-1)?.nextElementSibling === example) group.push(example);
      else groups.push([example]);
    }
    return groups.filter((group) => group.length > 1);
  };

  /** A browser may block storage. The page then forgets the language. */
  const stored = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  };

  const addLanguages = (groups) => {
    const show = (language) => {
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
            stored((storage) => storage.setItem(LANGUAGE, language));
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
    const chosen = stored((storage) => storage.getItem(LANGUAGE));
    if (chosen) show(chosen);
  };

  document.addEventListener('DOMContentLoaded', () => {
    const examples = [...document.querySelectorAll('.code')];
    addLanguages(groupsOf(examples));
    examples.forEach(addCopyButton);
  });
}
