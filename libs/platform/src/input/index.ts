export { Choice, ChoiceList, Flag, SCHEMA_NAME } from './choice.decorator';
export { Form, ReadOnlyMembers } from './dto-metadata.decorator';
export { InputPipe, NoQueryDto } from './input.pipe';
export { NotBeside, check } from './member';
export { Instant, Since } from './instant.decorator';
export { Nested, NestedList, Refused } from './nested.decorator';
export { ExactEmail, ExactExternalId, ExactText, OpaqueText, STORABLE, Text } from './text.decorator';
export { DistinctUuids, Uuid, Uuids } from './uuid.decorator';
