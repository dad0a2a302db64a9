import { ConfigError } from "@parley/shared/config";
import { textOfBytes } from "@parley/shared/portable/text-of-bytes";

/** The text of a file that a spreadsheet wrote. @throws ConfigError for a file that is not there or not text */
export async function textOfFile(path: string): Promise<string> {
  const bytes = await Bun.file(path)
    .bytes()
    .catch(() => {
      throw new ConfigError(`${path} cannot be read`);
    });
  const text = textOfBytes(bytes);
  if (text === null)
    throw new ConfigError(`${path} is not a text file in UTF-8, UTF-16 or Windows-1252. Save it as "CSV UTF-8".`);
  return text;
}
