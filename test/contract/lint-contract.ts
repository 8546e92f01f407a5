// Lints contracts: reads a JSON array of documents from stdin and writes an array of findings to stdout. A separate
// process, because jest cannot load the linter, an ES module.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { LINT_CONFIG } from './lint-rules';

/**
 * The linter cannot check examples of a nullable reference, whose form generators need (`house/nullable-form`). A
 * separate test checks all examples.
 */
const NO_TYPE = '"nullable" cannot be used without "type"';

async function main(): Promise<void> {
  const documents = JSON.parse(readFileSync(0, 'utf8')) as object[];
  const config = await createConfig(LINT_CONFIG);
  const findings = [];
  for (const document of documents) {
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    findings.push(
      problems
        .filter(({ message }) => !message.includes(NO_TYPE))
        .map(({ ruleId, message, location }) => ({ rule: ruleId, message, place: location[0]?.pointer ?? '' })),
    );
  }
  process.stdout.write(JSON.stringify(findings));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
