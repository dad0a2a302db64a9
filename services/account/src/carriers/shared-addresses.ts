import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { overlap } from "@parley/shared/egress/address";

/** As they are stored, or are about to be. */
type Trunk = Partial<Pick<CarrierSettings, "host" | "allowedAddresses">>;

/**
 * What two trunks have in common, as far as their settings say, so that calls of both may come from one address: the host that each
 * calls, or an address that at least one of them names as a source of its calls.
 */
export function sharedBy(one: Trunk, other: Trunk): "address" | "host" | null {
  const isShared = sourcesOf(one).some((source) =>
    sourcesOf(other).some((its) => source === its || overlap(source, its)),
  );
  if (!isShared) return null;
  return [one, other].some(({ allowedAddresses = [] }) => allowedAddresses.length > 0) ? "address" : "host";
}

/** Addresses and ranges, or else the host, in lower case and without its port. */
function sourcesOf({ host = "", allowedAddresses = [] }: Trunk): string[] {
  if (allowedAddresses.length > 0) return allowedAddresses;
  const name = host.toLowerCase().replace(/:\d+$/, "");
  return [name.replace(/^\[|\]$/g, "").replace(/\.$/, "")];
}
