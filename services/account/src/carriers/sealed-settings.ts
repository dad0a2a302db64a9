import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { type CarrierField, type CarrierProvider, carrierFields } from "@parley/shared/domain/carriers";
import { mask, type Sealer } from "@parley/shared/sealing";
import type { SealedSettings } from "../store/carriers.ts";

/** What the secrets are sealed for; they cannot be opened for anything else. */
interface CarrierUse {
  ownerId: string;
  carrierId: string;
  provider: CarrierProvider;
}

export function sealSettings(sealer: Sealer, use: CarrierUse, settings: CarrierSettings): SealedSettings {
  const shown: CarrierSettings = { ...settings };
  const sealed: Record<string, string> = {};
  for (const { field, rule } of carrierFields(use.provider)) {
    const value = settings[field];
    if (!rule.isSecret || field === "allowedAddresses" || typeof value !== "string" || value === "") continue;
    shown[field] = mask(value);
    sealed[field] = sealer.seal(value, contextOf(use, field));
  }
  return { settings: shown, sealed };
}

/** The settings with their secrets. @throws when one was sealed for another use or with an unknown key, or was modified */
export function openSettings(sealer: Sealer, use: CarrierUse, { settings, sealed }: SealedSettings): CarrierSettings {
  return { ...settings, ...mapped(sealed, (text, field) => sealer.open(text, contextOf(use, field))) };
}

/** The same settings, their secrets sealed with the sealer's first key. @throws as `openSettings` does */
export function resealSettings(sealer: Sealer, use: CarrierUse, { settings, sealed }: SealedSettings): SealedSettings {
  return { settings, sealed: mapped(sealed, (text, field) => sealer.reseal(text, contextOf(use, field))) };
}

function mapped(sealed: SealedSettings["sealed"], change: (text: string, field: string) => string) {
  return Object.fromEntries(Object.entries(sealed).map(([field, text]) => [field, change(text, field)]));
}

function contextOf({ ownerId, carrierId, provider }: CarrierUse, field: CarrierField | string): string {
  return JSON.stringify(["carrier", ownerId, carrierId, provider, field]);
}
