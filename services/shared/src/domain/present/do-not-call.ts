import type { DoNotCallNumber } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { isoTime } from "./time.ts";

export function presentDoNotCall({ mobileNumber, createdAt }: DoNotCallNumber) {
  return { mobile_number: mobileNumber, created_at: isoTime(createdAt) ?? null };
}
