export { framePage } from './page-frame';
export { PROBLEM_MEDIA_TYPE, type Problem, toDomainError, toProblem } from './problem';
export { problemExample } from './problem-example';
export { PROBLEMS } from './problem-table';
