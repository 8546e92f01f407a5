export { serveExplorer } from './explorer/explorer';
export { serveGuides } from './guides/guides';
export { browserFile, serveFile } from './served-file';
