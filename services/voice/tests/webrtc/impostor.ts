import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { createAuthority, createCertificate } from "@parley/testkit/tls/certificates";

/** A browser's certificate with its key, and with another one, as files. */
export async function certificatesIn(folder: string) {
  const { cert, key } = await createCertificate(await createAuthority("any"), "browser");
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await Bun.write(file, text);
    return file;
  };
  const certificatePemFile = await write("browser.pem", cert);
  return {
    own: { certificatePemFile, keyPemFile: await write("browser.key", key) },
    stolen: { certificatePemFile, keyPemFile: await write("impostor.key", forged(other, createPublicKey(cert))) },
  };
}

/**
 * A key that signs with one key but claims to be another's: libraries compare only the public half with the certificate. What it signs
 * is not what the certificate's owner would sign.
 */
function forged(key: KeyObject, claimed: KeyObject): string {
  const { d } = key.export({ format: "jwk" });
  const { x, y } = claimed.export({ format: "jwk" });
  const [scalar, ...point] = [d, x, y].map((number) => Buffer.from(number ?? "", "base64url"));
  // ECPrivateKey (RFC 5915) on P-256.
  const der = Buffer.concat([
    Buffer.from("30770201010420", "hex"),
    scalar ?? Buffer.alloc(0),
    Buffer.from("a00a06082a8648ce3d030107a14403420004", "hex"),
    ...point,
  ]);
  return `-----BEGIN EC PRIVATE KEY-----\n${der.toString("base64")}\n-----END EC PRIVATE KEY-----\n`;
}
