// The build runs this program after the compiler.
import { projectFile } from '../served-file';
import { writeBuiltGuides } from './built-guides';
import { GUIDES } from './guide-list';
import { renderGuide } from './guide-markdown';
import { guideOverview, guidePage } from './guide-page';
import { searchIndex } from './guide-search';

const rendered = new Map(GUIDES.map((guide) => [guide, renderGuide(projectFile(guide.file), guide.file)]));

writeBuiltGuides({
  overview: guideOverview(rendered),
  pages: Object.fromEntries(GUIDES.map((guide) => [guide.name, guidePage(guide, rendered)])),
  index: searchIndex(rendered),
});
