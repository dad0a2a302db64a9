import type { Sealer } from "../sealing.ts";

interface Codec<R> {
  encode(message: R): { finish(): Uint8Array };
  decode(bytes: Uint8Array): R;
}

/**
 * The codec of a response with a token: what is stored of it for a repetition opens only with the service's key, so that nobody who
 * reads the table or a backup can use the token.
 * @param context what the response belongs to; it opens only with the same context
 */
export function sealedResponses<R>(codec: Codec<R>, sealer: Sealer, context: string): Codec<R> {
  return {
    encode: (message) => ({
      finish: () => {
        const text = Buffer.from(codec.encode(message).finish()).toString("base64");
        return Buffer.from(sealer.seal(text, context));
      },
    }),
    decode: (bytes) => codec.decode(Buffer.from(sealer.open(Buffer.from(bytes).toString(), context), "base64")),
  };
}
