import { notFound } from "@parley/shared/errors";

const FORM = /^[1-9]\d{0,8}$/;

/** The number of a version in a path. @throws ServiceError not_found for what is none */
export function versionNumber(text: string | undefined): number {
  if (text === undefined || !FORM.test(text)) throw notFound("Agent version");
  return Number(text);
}
