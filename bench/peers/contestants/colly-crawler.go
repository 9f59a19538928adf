// A crawler of one host by Colly. Started by colly.ts with URL, host and concurrency.
package main

import (
	"os"
	"strconv"

	"github.com/gocolly/colly/v2"
)

func main() {
	url, host := os.Args[1], os.Args[2]
	concurrency, _ := strconv.Atoi(os.Args[3])
	collector := colly.NewCollector(colly.AllowedDomains(host), colly.Async(true))
	collector.IgnoreRobotsTxt = false
	collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: concurrency})
	collector.OnHTML("a[href]", func(element *colly.HTMLElement) {
		element.Request.Visit(element.Attr("href"))
	})
	collector.Visit(url)
	collector.Wait()
}
