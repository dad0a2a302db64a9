import mammoth from "mammoth";
import { Refusal } from "../reading.ts";
import { markdownOfHtml } from "./html.ts";

/** The first bytes of Microsoft's older containers: of `.doc`, and of every encrypted document. */
const COMPOUND_FILE = Buffer.from("d0cf11e0a1b11ae1", "hex");

export async function textOfDocx(bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, COMPOUND_FILE.length).equals(COMPOUND_FILE)) {
    throw new Refusal(
      "The Word document is encrypted, or has the old format .doc. Save it as .docx without a password.",
    );
  }
  if (buffer.toString("latin1", 0, 2) !== "PK") throw new Refusal("The file is not a Word document (.docx).");
  const { value } = await mammoth
    .convertToHtml({ buffer }, { convertImage: mammoth.images.imgElement(async () => ({ src: "" })) })
    .catch((error: Error) => {
      if (error instanceof RangeError) throw error;
      throw new Refusal("The Word document is damaged, or the file is another kind of document.");
    });
  return markdownOfHtml(value);
}
