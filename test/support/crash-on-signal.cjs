// For NODE_OPTIONS=--require: SIGUSR2 causes an uncaught error.
process.on('SIGUSR2', () => {
  throw new Error('planted');
});
