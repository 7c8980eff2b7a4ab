// What speedscope shows of the trace that the page has been told to open: the name of the profile, and the functions.
(async () => {
	const until = async (what, f) => {
		for (const begin = Date.now(); ;) {
			const v = f();
			if (v) return v;
			const text = document.body.innerText;
			if (/went wrong|No profiles|Unrecognized/i.test(text)) throw new Error(text);
			if (Date.now() - begin > 60_000) throw new Error(`no ${what} after a minute: ${text}`);
			await new Promise((ready) => setTimeout(ready, 50));
		}
	};
	const sandwich = await until("tab Sandwich", () =>
		[...document.querySelectorAll("div")].find((d) => d.innerText === "🥪Sandwich"));
	const profile = document.body.innerText.split("\n").find((l) => l.includes("tid"));
	sandwich.click();
	const rows = await until("table", () => {
		const rows = [...document.querySelectorAll("table tr")].map((r) => r.innerText);
		return rows.length > 1 && rows;
	});
	return { profile, rows };
})()
