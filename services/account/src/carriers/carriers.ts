import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Sealer } from "@parley/shared/sealing";
import type { CarrierRow, SealedSettings } from "../store/carriers.ts";
import type { CarrierAccount } from "./account.ts";
import { type CarrierAddresses, carrierAccount } from "./accounts.ts";
import { openSettings, sealSettings } from "./sealed-settings.ts";

/** Seals and opens the credentials of carriers, and finds their adapters. */
export interface Carriers {
  seal(row: Pick<CarrierRow, "ownerId" | "carrierId" | "provider">, settings: CarrierSettings): SealedSettings;
  /** Returns the settings with the secrets. @throws ServiceError condition when they can no longer be read */
  settings(row: CarrierRow): CarrierSettings;
  /** The account at the provider. @throws ServiceError as `settings` does */
  open(row: CarrierRow): CarrierAccount;
  /** The account of credentials that are not stored. */
  account(row: Pick<CarrierRow, "carrierId" | "provider">, settings: CarrierSettings): CarrierAccount;
  /** @throws ServiceError condition while carriers cannot reach this installation */
  requirePublicUrl(): void;
}

export function createCarriers(sealer: Sealer, addresses: CarrierAddresses): Carriers {
  const account: Carriers["account"] = ({ carrierId, provider }, settings) =>
    carrierAccount(addresses, { provider, carrierId, settings });
  const settings: Carriers["settings"] = (row) => {
    try {
      return openSettings(sealer, row, row);
    } catch (cause) {
      const detail = "The credentials of this carrier can no longer be read: connect it again";
      throw new ServiceError("condition", detail, { cause });
    }
  };
  return {
    seal: (row, given) => sealSettings(sealer, row, given),
    settings,
    open: (row) => account(row, settings(row)),
    account,
    requirePublicUrl: () => {
      if (addresses.publicUrl !== "") return;
      const detail = "Carriers cannot reach this installation: its operator must set PARLEY_PUBLIC_URL";
      throw new ServiceError("condition", detail);
    },
  };
}
