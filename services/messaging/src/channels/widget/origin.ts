import { ServiceError } from "@parley/shared/errors";
import { webOriginOf } from "@parley/shared/text/web-origin";

/**
 * Refuses pages that the agent's owner does not allow. An agent without `allowed_origins` is on no page, because anyone
 * who reads the agent's id on one page could put it on another.
 * @param allowed the agent's `widget_config.allowed_origins`, as the owner wrote them
 * @throws ServiceError forbidden
 */
export function checkOrigin(origin: string, allowed: unknown): void {
  const own = webOriginOf(origin);
  // Browsers send only an origin; `null` is the origin of a sandbox or a file, which anyone can use.
  if (own === null || own !== origin)
    throw new ServiceError("forbidden", "The Origin header must be the origin of a web page");
  const origins: unknown[] = Array.isArray(allowed) ? allowed : [];
  if (!origins.some((each) => typeof each === "string" && webOriginOf(each) === own)) {
    throw new ServiceError(
      "forbidden",
      `${origin} is not in widget_config.allowed_origins of the agent's published version: add it there`,
    );
  }
}
