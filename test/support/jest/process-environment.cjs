// Where jest runs our tests: in the process itself, not in a context of its own. So a package that is installed can be
// loaded by Node, as in production, once for all test files of a worker (see installed-package.cjs), and what it calls an
// Error, a Date or a Map is what the tests call so. Our own modules are loaded anew for every file, as ever.
const { createRequire } = require('node:module');
const vm = require('node:vm');
const { ProcessCleanup } = require('../cleanup.cjs');

/** Of the packages that jest itself is made of. */
const ofJest = createRequire(require.resolve('jest'));
const { ModernFakeTimers } = ofJest('@jest/fake-timers');
const { ModuleMocker } = ofJest('jest-mock');

/** jest wants a context to compile functions in; in this one it gets those of the process. */
const ofTheProcess = vm.createContext();
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options } = {}) =>
  compileFunction(code, parameters, parsingContext === ofTheProcess ? options : { ...options, parsingContext });

/** What jest and tests may change of `process`. */
const REPLACED = ['exit', 'getBuiltinModule'];

// A worker whose jest is gone has nobody left to work for. A listener for that would keep it from ending otherwise.
if (process.send) setInterval(() => process.connected || process.exit(1), 1000).unref();

class ProcessEnvironment {
  /** Whether a test file is running, and not jest's global set-up. */
  static isOpen = false;

  /** Those of a time before the modern ones; nobody asks for them. */
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.conditions = projectConfig.testEnvironmentOptions.customExportConditions;
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.globals = Object.getOwnPropertyDescriptors(globalThis);
    this.variables = { ...process.env };
    this.replaced = REPLACED.map((name) => [name, process[name]]);
    globalThis.requireInstalled = require;
    ProcessEnvironment.isOpen = true;
    this.cleanup = new ProcessCleanup();
  }

  async setup() {}

  /** A file finds the globals, packages' registries among them, and the variables as the first one found them. */
  async teardown() {
    await this.cleanup.run();
    ProcessEnvironment.isOpen = false;
    this.fakeTimersModern.dispose();
    for (const [name, value] of this.replaced) process[name] = value;
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    for (const name of Reflect.ownKeys(globalThis)) {
      const { configurable } = Object.getOwnPropertyDescriptor(globalThis, name);
      if (configurable && !(name in this.globals)) delete globalThis[name];
    }
    for (const name of Reflect.ownKeys(this.globals)) {
      if (this.globals[name].configurable) Object.defineProperty(globalThis, name, this.globals[name]);
    }
  }

  exportConditions() {
    return this.conditions;
  }

  getVmContext() {
    return ofTheProcess;
  }
}

module.exports = ProcessEnvironment;
