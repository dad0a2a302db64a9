import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Feature } from "@parley/shared/process/feature";

export type VoiceFeature = Feature<typeof VoiceServiceService>;
