// Replaces a part of the page by itself as it is now: <div id="queue" data-refresh="20">. Without this, a reload does.
"use strict";

const waiting = (part) => document.hidden || part.contains(document.activeElement) || part.querySelector("details[open]");

const renew = async (part) => {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (!answer.ok || answer.redirected) return answer.status === 429 || answer.status >= 500;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(part.id);
  if (fresh && fresh.innerHTML !== part.innerHTML && !waiting(part)) part.replaceChildren(...fresh.childNodes);
  return Boolean(fresh && fresh.dataset.refresh);
};

for (const part of document.querySelectorAll("[data-refresh]")) {
  const seconds = Number(part.dataset.refresh);
  const again = async () => {
    const goesOn = waiting(part) || (await renew(part).catch(() => true));
    if (goesOn) setTimeout(again, seconds * 1000);
  };
  setTimeout(again, seconds * 1000);
}
