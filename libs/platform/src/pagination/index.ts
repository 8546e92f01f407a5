export { type ListFilters } from './cursors';
export { AnyOf, Before, ExactEmail, ExactId, ExactText, OneOf, SCHEMA_NAME, TrueOrFalse } from './filter.decorator';
export { CURSOR, PageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
