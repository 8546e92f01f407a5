import { asked, form, input, select, table } from './field';

const NEW_PERSON = `${input('name', 'Name', 'As the audit shows it.', 'required maxlength="200"')}
${input('email', 'E-mail', 'The address of the account that the person signs in with.', 'type="email" required maxlength="254"')}
${select('role', 'Role', 'A viewer sees everything but applications and people. An administrator changes it.', `[['viewer', 'viewer'], ['admin', 'administrator']]`)}
<% if (it.hasIssuer) { %>${input('subject', 'Subject', 'Only for an issuer that verifies no addresses, such as Entra. A refused sign-in shows it to the person.', 'maxlength="255"')}<% } %>`;

export const PEOPLE = {
  people: `<p>Who may use this console. A change acts on the person’s next request.</p>
<% if (it.errors.people) { %><p class="notice bad"><%= it.errors.people %></p><% } %>
${table('it.people', '', {
  Name: `<%= one.name %><% if (one.id === it.frame.me.personId) { %> (you)<% } %>`,
  'E-mail': `<%= one.email %>`,
  Role: `<%= one.role %>`,
  'Last sign-in': `<%= one.state === 'closed' ? 'did not come within 14 days: add again' : it.time(one.signedInAt) %>`,
  Change: `<% const other = one.role === 'admin' ? 'viewer' : 'admin'; %><div class="actions">
<form method="post" action="/people/<%= one.id %>/role"><%~ include('@fields', it) %><input type="hidden" name="role" value="<%= other %>"><button class="plain">Make <%= other === 'admin' ? 'administrator' : 'viewer' %><span class="hidden"> of <%= one.name %></span></button></form>
${asked('/people/<%= one.id %>/remove', 'Remove', 'The access ends at once. The name stays for the audit.', 'one.name')}</div>`,
})}
<h2>Add a person</h2>
<p>No mail is sent. Give the person the address of this console. The first sign-in must come within 14 days.</p>
${form('/people', NEW_PERSON, 'Add person')}`,
};
