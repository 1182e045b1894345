export interface ManagedZone {
  readonly project: string;
  readonly name: string;
}

/** A zone of `exposure.zone`: its name, or `projects/<project>/managedZones/<name>`. */
export function parseZone(zone: string, ownProject: string): ManagedZone {
  const [, project = ownProject, name = zone] = /^projects\/([^/]+)\/managedZones\/(.+)$/.exec(zone) ?? [];
  return { project, name };
}
