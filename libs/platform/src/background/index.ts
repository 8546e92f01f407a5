export { RepeatedWork } from './repeated-work';
