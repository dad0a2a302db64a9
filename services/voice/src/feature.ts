import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Feature } from "@parley/shared/process/feature";
import type { Handlers } from "@parley/shared/rpc/server";

type Definition = typeof VoiceServiceService;

export type VoiceFeature = Feature<Definition>;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
