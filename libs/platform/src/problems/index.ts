export { framePage } from './page-frame';
export { PROBLEM_MEDIA_TYPE, type Problem, problemExample, toDomainError, toProblem } from './problem';
export { PROBLEMS } from './problem-table';
