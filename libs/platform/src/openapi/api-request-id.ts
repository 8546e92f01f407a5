/** The only header that every request may carry. */
export const REQUEST_ID_PARAMETER = {
  name: 'X-Request-Id',
  in: 'header' as const,
  required: false,
  description:
    'Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.',
  // No pattern and no limit: a client that checked one would refuse values that the API accepts.
  schema: { type: 'string', 'x-unbounded': 'A value of another form is replaced, never refused.' },
  example: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
};
