/** The query of a route without parameters. Any parameter is refused by name. */
export class NoQueryDto {}
