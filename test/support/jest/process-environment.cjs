// jest's environment for our tests: the process itself instead of a separate context. So Node loads installed packages
// as in production, once for all test files of a worker (see installed-package.cjs). Errors, dates and maps of packages
// are instances of the tests' classes. Our own modules are compiled once, too, but run again for every file.
const { createRequire } = require('node:module');
const vm = require('node:vm');
const { ProcessCleanup } = require('../cleanup.cjs');

/** Resolves packages of jest itself. */
const ofJest = createRequire(require.resolve('jest'));
const { ModernFakeTimers } = ofJest('@jest/fake-timers');
const { ModuleMocker } = ofJest('jest-mock');

/** jest compiles functions in a context; this one uses the process's own. */
const ofTheProcess = vm.createContext();
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, options = {}) =>
  options.parsingContext === ofTheProcess
    ? scriptOf(code, parameters, options.filename).runInThisContext()
    : compileFunction(code, parameters, options);

/** The compiled scripts by file. Test files of a worker share them, with the code that V8 has compiled meanwhile. */
const scripts = new Map();

function scriptOf(code, parameters, filename) {
  const known = scripts.get(filename);
  if (known?.code === code) return known.script;
  const head = `(function (${parameters}) {`;
  const script = new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length });
  scripts.set(filename, { code, script });
  return script;
}

/** What takes long to make and is the same for every test file of a worker. Each file finds it as `globalThis.ofWorker`. */
const ofWorker = {};

/** Members of `process` that jest and tests may change. */
const REPLACED = ['exit', 'getBuiltinModule'];

// A worker without jest has no work. A listener would otherwise keep it alive.
if (process.send) setInterval(() => process.connected || process.exit(1), 1000).unref();

class ProcessEnvironment {
  /** True while a test file runs, false in jest's global set-up. */
  static isOpen = false;

  /** Legacy fake timers, which nobody uses. */
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
    globalThis.ofWorker = ofWorker;
    ProcessEnvironment.isOpen = true;
    this.cleanup = new ProcessCleanup();
  }

  async setup() {
    globalThis.causes = [];
  }

  /** Prints the causes of 500s with the test that failed. A test that expects a 500 prints nothing. */
  handleTestEvent({ name }) {
    if (name === 'test_start') globalThis.causes.length = 0;
    if (name === 'test_fn_failure' || name === 'hook_failure')
      for (const cause of globalThis.causes.splice(0)) console.error(cause);
  }

  /** Each file starts with the original globals and variables, including package registries. */
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
