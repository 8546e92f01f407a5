// For NODE_OPTIONS=--require: at SIGUSR2 the process meets an error that nobody catches.
process.on('SIGUSR2', () => {
  throw new Error('planted');
});
