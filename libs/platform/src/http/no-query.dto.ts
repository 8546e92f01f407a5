/** Query of a route that takes none: any parameter is refused by name, as everywhere. */
export class NoQueryDto {}
