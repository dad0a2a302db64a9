import { resolve } from "node:path";
import { type BucketAccess, bucketFiles } from "./bucket.ts";
import type { RecordingFiles } from "./files.ts";
import { folderFiles } from "./folder.ts";

/** The place in `PARLEY_RECORDINGS`: a folder, or `s3://bucket/prefix`. */
type RecordingsPlace = { type: "folder"; path: string } | { type: "bucket"; bucket: string; prefix: string };

/** @throws Error saying what is wrong */
export function parseRecordingsPlace(text: string): RecordingsPlace | undefined {
  if (text === "") return undefined;
  if (!text.startsWith("s3:")) return { type: "folder", path: resolve(text) };
  const [, bucket = "", prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/*$/.exec(text) ?? [];
  if (bucket === "") throw new Error(`must be a folder or s3://bucket/prefix, not "${text}"`);
  return { type: "bucket", bucket, prefix };
}

export function openFiles(place: RecordingsPlace, access: BucketAccess): RecordingFiles {
  return place.type === "folder" ? folderFiles(place.path) : bucketFiles(place, access);
}
