export { serveExplorer } from './explorer/explorer';
export { serveGuides } from './guides/guides';
