export { ApiSuccess, ApiTextSuccess, example } from './api-success.decorator';
export { REQUEST_ID_PARAMETER, chargedHeaders, headerComponents } from './api-headers';
export {
  ApiAnyTokenProblems,
  ApiProblems,
  ApiProblemsAs,
  ApiPublicProblems,
  BEARER_PROBLEMS,
  PUBLIC_RESPONSES,
  problemResponse,
} from './api-problems.decorator';
export { ANY_VALUE, ANY_VALUE_MARK, ApiObject, constant, namedEnum, openEnum } from './api-schema.decorator';
export { ApiWrite, WHOLE_BODY, WRITE_PROBLEMS } from './api-write.decorator';
export { EXPANDED_OWNER, OwnerDto, TAGS, TagDto } from './asset-parts.dto';
export { type Components, type Operation, type Parameter, operationsOf } from './operations';
export { ProblemDto } from './problem.dto';
