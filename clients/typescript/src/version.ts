import { VersionError } from "./errors.js";
import { version } from "./gen/version.js";

/** versionHeader names the sidecar's version in the header of its answers. */
export const versionHeader = "palimpsest-version";

/** checkVersion refuses a sidecar that is older than this package. Builds between releases have no number, and pass. */
export function checkVersion(server: string | null): void {
  if (server === null) throw new VersionError("unknown", version);
  const has = numbers(server);
  const wants = numbers(version);
  if (!has || !wants) return;
  const at = wants.findIndex((number, i) => number !== has[i]);
  if (at >= 0 && has[at]! < wants[at]!) throw new VersionError(server, version);
}

function numbers(text: string): number[] | undefined {
  return /^v?(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
}
