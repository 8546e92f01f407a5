import { ERROR_CODES } from '#libs/kernel';
import { describeProblem, problemListPage, problemPage } from './problem-page';

describe('A problem page', () => {
  const hostile = {
    ...describeProblem('not_found', 'https://api.example.test'),
    title: '<script>alert(1)</script>',
    cause: 'a < b & `<b>` "quoted"',
    remedy: '<img src=x onerror=alert(1)>',
    example: { ...describeProblem('not_found', 'https://api.example.test').example, detail: '</pre><script>' },
  };

  it('escapes every text', () => {
    for (const page of [problemPage(hostile), problemListPage([hostile])]) {
      expect(page).not.toMatch(/<script|<img|<b>/);
      expect(page).toContain('a &lt; b &amp; <code>&lt;b&gt;</code> &quot;quoted&quot;');
    }
  });

  it('has cause, remedy and a complete example for each code', () => {
    for (const code of ERROR_CODES) {
      const described = describeProblem(code, 'https://api.example.test');
      const page = problemPage(described);
      for (const heading of ['Cause', 'Remedy', 'Example']) expect(page).toContain(`<h2>${heading}</h2>`);
      expect(page).toContain(`&quot;code&quot;: &quot;${code}&quot;`);
      expect(described.example).toMatchObject({ type: described.type, code, status: described.status });
    }
  });
});
