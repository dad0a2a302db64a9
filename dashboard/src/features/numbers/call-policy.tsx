import { queryOptions, useQuery } from "@tanstack/react-query";
import { read } from "../../api/client.ts";

const policyQuery = queryOptions({
  queryKey: ["call policy"],
  queryFn: ({ signal }) => read(signal, "/v1/manage/settings/calls"),
});

/** What the owner's agents may call, which the operator decides. Nothing until it is known. */
export function CallPolicy() {
  const { data } = useQuery(policyQuery);
  if (!data) return null;
  const { countries, calls_per_day, minutes_per_day } = data;
  const names = new Intl.DisplayNames(undefined, { type: "region" });
  const where = countries.length > 0 ? countries.map((code) => names.of(code) ?? code).join(", ") : "no country yet";
  return (
    <p className="text-xs text-muted">
      Your agents may call numbers of {where}: {calls_per_day.toLocaleString()} calls and{" "}
      {minutes_per_day.toLocaleString()} minutes a day. The operator of this installation can change that.
    </p>
  );
}
