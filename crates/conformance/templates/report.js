// Filters clauses and findings by text, component, level and status. The page works without it.
(() => {
  const form = document.getElementById("filter");
  const field = (name) => document.getElementById("filter-" + name);
  const [text, component, level, status] = ["text", "component", "level", "status"].map(field);
  const items = [...document.querySelectorAll("[data-item]")].map((element) => ({
    element,
    words: element.textContent.toLowerCase(),
    contract: element.closest("[data-contract]"),
  }));
  const contracts = [...document.querySelectorAll("[data-contract]")];
  const has = (list, wanted) => !wanted || list.split(" ").includes(wanted);
  const apply = () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtered = wanted.length > 0 || component.value || level.value || status.value;
    const shown = new Map(contracts.map((contract) => [contract, 0]));
    let clauses = 0;
    for (const { element, words, contract } of items) {
      const data = element.dataset;
      const fits = has(data.component, component.value) && has(data.level, level.value) &&
        has(data.status, status.value) && wanted.every((word) => words.includes(word));
      element.hidden = !fits;
      if (fits && contract) {
        shown.set(contract, shown.get(contract) + 1);
        clauses += 1;
      }
    }
    for (const contract of contracts) {
      contract.hidden = Boolean(filtered) && shown.get(contract) === 0;
      if (filtered && shown.get(contract) > 0) contract.open = true;
    }
    const all = items.filter((item) => item.contract).length;
    field("count").textContent = filtered ? `${clauses} of ${all} clauses` : "";
    const query = new URLSearchParams();
    for (const input of [text, component, level, status]) {
      if (input.value) query.set(input.id.replace("filter-", ""), input.value);
    }
    const hash = query.toString() ? "#?" + query : "";
    if (hash || location.hash.startsWith("#?")) history.replaceState(null, "", hash || location.pathname);
  };
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.matches("details")) target.open = true;
  };
  if (location.hash.startsWith("#?")) {
    for (const [name, value] of new URLSearchParams(location.hash.slice(2))) {
      if (field(name)) field(name).value = value;
    }
  }
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.matches("input, select, textarea")) {
      event.preventDefault();
      text.focus();
    }
  });
  addEventListener("hashchange", open);
  open();
  apply();
})();
