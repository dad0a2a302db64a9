import type { Sql } from "@parley/shared/db/database";
import type { GENDERS } from "@parley/shared/domain/api-names";

export interface ClonedVoice {
  voiceId: string;
  name: string;
  /** NEUTRAL also where the provider states none. */
  gender: keyof typeof GENDERS;
  /** A BCP 47 tag. */
  language: string;
  previewUrl: string | null;
}

/** The key of a voice. */
interface VoiceKey {
  ownerId: string;
  providerName: string;
  voiceId: string;
}

/** Serializes an owner's additions until the end of the transaction. */
export async function lockClonedVoices(tx: Sql, ownerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('agent.cloned_voices.' || ${ownerId}, 0))`;
}

export async function insertClonedVoice(sql: Sql, key: VoiceKey, voice: ClonedVoice, now: Date): Promise<void> {
  await sql`
    insert into cloned_voices
      (owner_id, provider_name, voice_id, name, gender, language, preview_url, created_at)
    values
      (${key.ownerId}, ${key.providerName}, ${key.voiceId}, ${voice.name}, ${voice.gender}, ${voice.language},
       ${voice.previewUrl}, ${now})`;
}

/** All of an owner's voices at a provider, in any order; `add-cloned-voice` bounds their number. */
export async function listClonedVoices(sql: Sql, ownerId: string, providerName: string): Promise<ClonedVoice[]> {
  return sql<ClonedVoice[]>`
    select voice_id, name, gender, language, preview_url
    from cloned_voices where owner_id = ${ownerId} and provider_name = ${providerName}`;
}

/** Returns whether the voice existed. */
export async function deleteClonedVoice(sql: Sql, { ownerId, providerName, voiceId }: VoiceKey): Promise<boolean> {
  const { count } = await sql`
    delete from cloned_voices
    where owner_id = ${ownerId} and provider_name = ${providerName} and voice_id = ${voiceId}`;
  return count > 0;
}
