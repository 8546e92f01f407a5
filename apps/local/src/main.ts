import { ApiProcess } from './api-process';
import { runProgram } from './program';

/** The program of `npm start`. */
runProgram(() => new ApiProcess());
