/** The API as a child process, which `npm start` runs once and `npm run dev` again after each change. */
export interface ServedApi {
  /** Resolves once no process will serve any more. */
  readonly gone: Promise<void>;
  serve(environment: NodeJS.ProcessEnv): void;
  /** Resolves to true once the API responds at `origin`, to false if it will not. */
  responses(origin: string): Promise<boolean>;
  stop(): Promise<void>;
}
