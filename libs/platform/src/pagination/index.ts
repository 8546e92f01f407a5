export { AnyOf, SCHEMA_NAME } from './any-of.decorator';
export { type ListFilters } from './cursors';
export { ExactId, ExactText } from './exact.decorator';
export { pageOf } from './page.dto';
export { PageQueryDto } from './page-query.dto';
export { Paging } from './paging';
