export { type ListFilters } from './cursors';
export { AnyOf, Before, ExactId, ExactText, OneOf, SCHEMA_NAME, TrueOrFalse } from './filter.decorator';
export { pageOf } from './page.dto';
export { PageQueryDto } from './page-query.dto';
export { Paging } from './paging';
